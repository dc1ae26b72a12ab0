// Package alerting evaluates alert rules. Step decides about one group of one rule at one minute. The worker, the test of a rule and its
// preview give it the same figures.
package alerting
