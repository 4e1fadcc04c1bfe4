# The service: HTTP server and graders in one image, installed from the lock file.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /podium

COPY requirements.lock ./
RUN pip install --require-hashes -r requirements.lock

COPY pyproject.toml setup.py README.md LICENSE ./
COPY app app
COPY migrations migrations
COPY competitions competitions
# Compiled here, because the user podium may not write beside the code: each process would compile it again.
RUN pip install --no-deps --no-build-isolation -e . \
    && python -m compileall -q app migrations \
    && useradd --uid 7777 podium \
    && install -d -o podium /data

USER 7777
ENV PODIUM_DATA_DIR=/data PODIUM_HOST=0.0.0.0 PODIUM_COMPETITIONS_DIR=/podium/competitions
VOLUME /data
EXPOSE 7777
HEALTHCHECK --interval=10s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7777/readyz', timeout=5)"]
CMD ["podium", "serve"]
