package api

import (
	"github.com/cloudwego/hertz/pkg/app/server"

	"github.com/locket-dev/locket/sync/remote/page"
)

// WriteTimeout is how long an answer waits for its reader before it is given up.
const WriteTimeout = writeTimeout

// Routes returns all routes, each as METHOD PATH.
func Routes() (out []string) {
	h := server.New(server.WithDisablePrintRoute(true))
	New(Config{}).routes(h)
	for _, r := range h.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// Problems returns the status of each kind of problem.
func Problems() map[string]int {
	out := map[string]int{string(page.Internal): 500, string(page.Fork): 409} // set by fail itself
	for _, k := range kinds {
		out[string(k.kind)] = k.status
	}
	return out
}

// Open returns how many connections are open.
func (s *Server) Open() int64 { return s.conns.sum() }
