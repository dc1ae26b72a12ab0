// Package reads has the statements of lists, searches and details, with one file for each noun: traces, log records, services,
// sessions. Each function makes one statement, and the type of its rows stands beside it. The package does no I/O: package read
// runs the statements.
package reads
