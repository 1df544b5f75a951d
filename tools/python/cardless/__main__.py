# SPDX-License-Identifier: MIT
"""`python -m cardless`."""
from cardless import main

main()
