"""Commands that ask whether a judge can be trusted: audits, drift, corrected estimates."""
