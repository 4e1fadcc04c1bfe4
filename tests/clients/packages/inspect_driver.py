"""Run evaluations of Inspect in an environment that has it: `python inspect_driver.py CASES`.

CASES is a JSON list. A case has `samples` (each with its `competition` and `files`; the mock model
says nothing), or a `folder` of tasks and `commands`, one of which the mock model runs by words of
its instruction. The last line of the output is a JSON list of what the logs have.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate
from podium_inspect import competitions, podium_scorer


def agent(commands: dict[str, str]) -> Any:
    """A mock model that runs the command for the competition of its instruction, then submits."""

    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        text = " ".join(message.text for message in messages)
        found = [command for words, command in commands.items() if words in text]
        if not found:
            output = ModelOutput.from_content("mockllm", "nothing")
        elif any(message.role == "tool" for message in messages):
            output = ModelOutput.for_tool_call("mockllm", "submit", {"answer": "done"})
        else:
            output = ModelOutput.for_tool_call("mockllm", "bash", {"command": found[0]})
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output  # with a usage, or Inspect downloads a tokenizer to count it

    return answer


def task_of(case: dict[str, Any]) -> Task:
    """A task of the package, or one of a researcher's own with the scorer of the package."""
    if "folder" in case:
        task: Task = competitions(case["folder"], sandbox="local")
        return task
    samples = [
        Sample(
            input="Say nothing.", id=name, metadata={"competition": one["competition"]},
            files=one.get("files"),
        )
        for name, one in case["samples"].items()
    ]  # fmt: skip
    scorer = podium_scorer("submission.csv", **case.get("arguments", {}))
    return Task(MemoryDataset(samples), solver=generate(), scorer=scorer, sandbox="local")


def evaluate(case: dict[str, Any]) -> dict[str, Any]:
    """Evaluate a case; its scores, errors and metrics."""
    os.environ.update(case.get("variables", {}))
    model = get_model("mockllm/model", custom_outputs=agent(case.get("commands", {})))
    (log,) = inspect_ai.eval(
        task_of(case), model=model, fail_on_error=False,
        epochs=case.get("epochs", 1), log_dir=case["logs"], log_format="json", display="none",
    )  # fmt: skip
    samples = {}
    for sample in log.samples or []:
        score = (sample.scores or {}).get("podium_scorer")
        samples[f"{sample.id} {sample.epoch}"] = {
            "value": score.value if score else None,
            "explanation": score.explanation if score else None,
            "metadata": score.metadata if score else None,
            "error": sample.error.message if sample.error else None,
        }
    scores = log.results.scores if log.results else []
    metrics = {one.name: one.metrics["accuracy"].value for one in scores}
    return {"samples": samples, "metrics": metrics}


if __name__ == "__main__":
    sys.stdout.write(json.dumps([evaluate(case) for case in json.loads(sys.argv[1])]))
