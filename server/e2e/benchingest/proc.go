package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is USER_HZ, which Linux fixes at 100 for user space.
const clockTick = 100

// cpuSeconds is the processor time that a process has used, including its finished threads.
func cpuSeconds(pid int) (float64, error) {
	fields, err := procStat(pid)
	if err != nil {
		return 0, err
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return (user + system) / clockTick, errors.Join(err1, err2)
}

// procStat returns the fields of /proc/<pid>/stat from the third on. The second field, the name, may contain spaces.
func procStat(pid int) ([]string, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// childOf finds the one child of a process.
func childOf(parent int) (int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return 0, err
	}
	for _, path := range lists {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if pids := strings.Fields(string(text)); len(pids) > 0 {
			return strconv.Atoi(pids[0])
		}
	}
	return 0, errors.New("svc serve has no engine of its own")
}

// peaks returns the peak resident memory of server and engine, in bytes.
func (p *process) peaks() (server, engine int64, err error) {
	server, err1 := peakMemory(p.pid())
	engine, err2 := peakMemory(p.engine)
	return server, engine, errors.Join(err1, err2)
}

func peakMemory(pid int) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if _, err := fmt.Sscanf(lines.Text(), "VmHWM: %d kB", &kib); err == nil {
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no peak", pid)
}

// describeMachine describes the machine of the measurement in one line.
func describeMachine() (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("this reads /proc: it runs on Linux only")
	}
	model := "processor unknown"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%s, %d × %s, load average before: %s", time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), model, load),
		nil
}

// busy compares the load of the whole machine with that of this program and its children.
type busy struct{ all, idle, mine float64 }

func startBusy() busy {
	all, idle := machineSeconds()
	return busy{all, idle, mySeconds()}
}

// noise is the largest share of other programs at which a run counts as undisturbed.
const noise = 0.05

// others returns the share of the machine that other programs have used since.
func (b busy) others() string {
	all, idle := machineSeconds()
	used := (all - b.all) - (idle - b.idle) - (mySeconds() - b.mine)
	share := max(0, used) / max(1, all-b.all)
	if share > noise {
		return fmt.Sprintf("%.0f %% of the machine. Beside such work latencies and rates mean little, and processor times are up to a third too high.", 100*share)
	}
	return fmt.Sprintf("%.0f %% of the machine.", 100*share)
}

// machineSeconds returns the processor time of the whole machine, and its idle part.
func machineSeconds() (all, idle float64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:] {
		v, _ := strconv.ParseFloat(field, 64) // the kernel prints numbers
		if i < 8 {                            // what comes after is part of the others
			all += v / clockTick
		}
		if i == 3 || i == 4 {
			idle += v / clockTick
		}
	}
	return all, idle
}

// mySeconds is the processor time of this program and of its finished children.
func mySeconds() float64 {
	return ownSeconds(syscall.RUSAGE_SELF) + ownSeconds(syscall.RUSAGE_CHILDREN)
}
