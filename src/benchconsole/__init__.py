"""Accept, tune and repair clusters: the one package that is installed.

Its four subpackages are the folders of the same names at the top of the repository.
Decision 023 gives the reason.
"""

__version__ = "0.1.0"
