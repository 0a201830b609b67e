"""Files, frames and arrays -> typed columns -> yes-or-no tests -> the problem that back-ends see."""
