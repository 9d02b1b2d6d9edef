"""What a user would pick instead of svddtune, measured with the same or as many labels.

========================= ======================================================== ===========
Detectors                 what they are given                                      Module
========================= ======================================================== ===========
isolation forest, LOF,    no label, but the true share of outliers                 `detectors`
ECOD
classifiers               labels: of svddtune's session, or random ones            `detectors`
search of gamma and nu    the same labels                                          `searches`
scikit-activeml           labels that its own strategies ask for                   `queries`
========================= ======================================================== ===========

`measure` computes, `report` compares. The packages come with the extra "competitors".
"""
