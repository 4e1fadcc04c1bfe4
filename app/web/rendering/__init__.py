"""Make the HTML of pages: templates, formats of values, and the checks of forms."""
