package ratelimit

import (
	"errors"
	"time"
)

// Wait lets requests wait for Redis as long as they must: a busy machine answers late, and a test counts every request.
func (c *Client) Wait() { c.answer = time.Minute }

// Hurry shortens the leases of places.
func (p *Places) Hurry() time.Duration {
	p.lease, p.renewal = 3*time.Second, 300*time.Millisecond
	return p.lease
}

// TakeAndDie takes a place, as a process does that ends before it gives the place back.
func (p *Places) TakeAndDie(key string) error {
	if taken, _ := p.holder(key).enter(); !taken {
		return errors.New("no place")
	}
	return nil
}

// PlaceLease is placeLease.
const PlaceLease = placeLease
