package main

import (
	"context"
	"net/url"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/metered"
)

// withLine returns the options, completed with whether the connection to the node is metered. A
// broker on this machine is never metered. What its node then sends elsewhere is up to the node's
// setting sync.metered.
func (f *deviceFlags) withLine() carry.Options {
	o := f.options
	switch {
	case f.capture != "" || f.metered == "no":
	case f.metered == "yes":
		o.Metered = func(context.Context) bool { return true }
	case !isOwn(f.broker):
		o.Metered = (&metered.Line{Now: time.Now}).Costs
	}
	return o
}

// isOwn reports whether a broker's address belongs to this machine.
func isOwn(broker string) bool {
	u, err := url.Parse(broker)
	return err == nil && clientaddr.Loopback(u.Hostname())
}
