"""Statistics of scores, where medals say too little."""
