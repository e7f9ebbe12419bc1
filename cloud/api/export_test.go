package api

import (
	"github.com/cloudwego/hertz/pkg/app/server"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Routes gives all that are served, each as METHOD PATH.
func Routes() (out []string) {
	h := server.New(server.WithDisablePrintRoute(true))
	New(Config{}).routes(h)
	for _, r := range h.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}

// Problems gives the status of each kind of problem that is answered.
func Problems() map[string]int {
	out := map[string]int{string(page.Internal): 500, string(page.Fork): 409} // which fail gives itself
	for _, k := range kinds {
		out[string(k.kind)] = k.status
	}
	return out
}

// Open gives how many connections of addresses are open.
func (s *Server) Open() int64 { return s.conns.sum() }
