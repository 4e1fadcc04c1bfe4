"""Kaggle's wire protocol over the same services as the native API, and MLE-bench's checker."""
