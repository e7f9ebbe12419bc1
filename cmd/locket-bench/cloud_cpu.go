package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
)

// processor returns the host's processor time in seconds.
func (h *cloudHost) processor() float64 { return processorOf(strconv.Itoa(h.cmd.Process.Pid)) }

// database is a PostgreSQL whose work is measured. The zero value measures nothing.
type database struct{ *pgtest.Cluster }

// processor returns the processor time, in seconds, of the server and its running processes.
func (d database) processor() (sum float64) {
	if d.Cluster == nil {
		return 0
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(d.Log()), "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	server, _, _ := strings.Cut(string(b), "\n")
	sum = processorOf(server)
	children, _ := os.ReadFile("/proc/" + server + "/task/" + server + "/children")
	for _, pid := range strings.Fields(string(children)) {
		sum += processorOf(pid)
	}
	return sum
}
