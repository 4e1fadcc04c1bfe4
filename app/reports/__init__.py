"""Results as documents, flat rows and Markdown, for every program that shows them."""
