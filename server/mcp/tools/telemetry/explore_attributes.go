package telemetry

// CommitKeys are the resource attributes that name a commit, current name first.
func CommitKeys() []string { return []string{"vcs.ref.head.revision", "deployment.commit_sha"} }
