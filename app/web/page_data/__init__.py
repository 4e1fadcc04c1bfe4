"""The data of pages: a page's table as CSV, all of its facts as JSON, and parts of long lists."""
