"""The verbs as functions: plain values in, a frozen result out. ``import judgec`` gives these names."""
