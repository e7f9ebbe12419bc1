package api

import "github.com/cloudwego/hertz/pkg/app/server"

// Routes gives all that are served, each as METHOD PATH.
func Routes() (out []string) {
	h := server.New(server.WithDisablePrintRoute(true))
	New(Config{}).routes(h)
	for _, r := range h.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	return out
}
