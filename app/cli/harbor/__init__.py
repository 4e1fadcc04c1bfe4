"""`podium harbor-task`: a competition as a task of Harbor."""
