package services

func ptr[T any](v T) *T { return &v }
