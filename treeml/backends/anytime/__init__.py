"""Trees at once and better ones with time, without a proof: for exact searches that need long, and for `improve`.

`search` replaces parts of trees while there is time, which it keeps as `branches`. `local_kernel` solves such parts
exactly, `proposals` suggests splits, and `multipliers` finds trees for requirements that couple the leaves.
"""
