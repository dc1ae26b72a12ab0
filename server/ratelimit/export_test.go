package ratelimit

import "time"

// Wait lets requests wait for Redis as long as they must: a busy machine answers late, and a test counts every request.
func (c *Client) Wait() { c.answer = time.Minute }
