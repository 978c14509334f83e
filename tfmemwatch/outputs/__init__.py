"""One file for each place that results go to. Outputs know findings and readings; they know no TensorFlow."""
