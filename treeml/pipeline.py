"""Text -> report: the whole flow on one screen.

    read     a file or a string          -> Source          lang/source.py
    parse    Source                      -> Model           lang/parse.py
    check    Model, params               -> Spec            lang/check.py
    load     a file, a frame, arrays     -> Table           data/read.py
    bind     Spec, Table                 -> Dataset         data/bind.py
    lower    Dataset                     -> Problem         data/problem.py (with data/binarize.py and measures.py)
    plan     Problem, back-end           -> Plan            backends/plan.py
    solve    Plan, limits                -> Answer          backends/*
    raise    Answer                      -> Tree            tree.py
    verify   Tree, Dataset               -> exact values    verify.py
"""
