"""Where a plan runs: engines that carry out the same steps with the same kernels."""
