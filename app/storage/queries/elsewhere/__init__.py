"""Results made elsewhere: imported grades and runs, and scores that harnesses measured."""
