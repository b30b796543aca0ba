"""Where a plan runs: engines that run the same steps with the same kernels."""
