package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// mindMachine is what a reader of the table needs to know of the machine. The machine's name is not in it.
type mindMachine struct {
	Processor string `json:"processor,omitempty"` // empty: unknown
	Threads   int    `json:"threads"`
	Memory    int64  `json:"memory_bytes,omitempty"`
	Platform  string `json:"platform"`
}

func thisMachine(ctx context.Context) mindMachine {
	m := mindMachine{Threads: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	switch runtime.GOOS {
	case "linux":
		m.Processor = firstField("/proc/cpuinfo", "model name", "Model", "Hardware")
		if m.Processor == "" {
			b, _ := os.ReadFile("/proc/device-tree/model") // there is none on a PC
			m.Processor = strings.Trim(string(b), "\x00\n ")
		}
		kb, _, _ := strings.Cut(firstField("/proc/meminfo", "MemTotal"), " ")
		m.Memory, _ = strconv.ParseInt(kb, 10, 64)
		m.Memory <<= 10
	case "darwin":
		m.Processor = sysctl(ctx, "machdep.cpu.brand_string")
		m.Memory, _ = strconv.ParseInt(sysctl(ctx, "hw.memsize"), 10, 64)
	case "windows":
		m.Processor = os.Getenv("PROCESSOR_IDENTIFIER")
	}
	return m
}

func (m *mindMachine) String() string {
	s := cmp.Or(m.Processor, "unknown processor")
	s += fmt.Sprintf(", %d threads", m.Threads)
	if m.Memory > 0 {
		s += fmt.Sprintf(", %.0f GB of memory", float64(m.Memory)/1e9)
	}
	return s + ", " + m.Platform
}

// firstField returns the value of the first line with one of the names, in the form "name: value".
func firstField(file string, names ...string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for _, name := range names {
		s := bufio.NewScanner(bytes.NewReader(b))
		for s.Scan() {
			if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == name {
				return strings.TrimSpace(v)
			}
		}
	}
	return ""
}

func sysctl(ctx context.Context, name string) string {
	b, err := exec.CommandContext(ctx, "sysctl", "-n", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
