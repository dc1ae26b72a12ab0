package ingest

// GRPCCode lets tests pin the status table.
var GRPCCode = grpcCode
