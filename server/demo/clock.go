package demo

import (
	"math"
	"time"
)

const (
	day = 24 * time.Hour
	// swing is the traffic of the busiest hour above the mean. peakHour is the time of that hour (UTC).
	swing    = 0.45
	peakHour = 19
)

// traffic is the load of the shop, 1 on average over a day.
func traffic(nano int64) float64 {
	angle := 2 * math.Pi * (float64(nano%int64(day))/float64(day) - peakHour/24.0)
	return 1 + swing*math.Cos(angle)
}

// trafficSince is the integral of traffic between two times, in seconds. It is the increase of a counter that follows traffic.
func trafficSince(from, to int64) float64 {
	turn := day.Seconds() / (2 * math.Pi)
	sine := func(nano int64) float64 {
		return math.Sin(2 * math.Pi * (float64(nano%int64(day))/float64(day) - peakHour/24.0))
	}
	return float64(to-from)/1e9 + swing*turn*(sine(to)-sine(from))
}

// restart returns the last start of a process before nano. Each process restarts every day at its own time, and its counters then
// begin at 0.
func restart(process uint64, nano int64) int64 {
	offset := int64(process%uint64(day/time.Minute)) * int64(time.Minute)
	start := nano - (nano-offset)%int64(day)
	if start == nano {
		start -= int64(day)
	}
	return start
}
