"""The lab study: the whole published pipeline in the small proof world, and its report."""
