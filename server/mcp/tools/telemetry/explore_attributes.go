package telemetry

// CommitKeys are the resource attributes that name a commit, the present name first.
func CommitKeys() []string { return []string{"vcs.ref.head.revision", "deployment.commit_sha"} }
