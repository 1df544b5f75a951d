# SPDX-License-Identifier: MIT
"""Everything that is generated from a table of entry points; see tools/gen/api_table.py."""
