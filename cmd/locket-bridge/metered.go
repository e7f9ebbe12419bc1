package main

import (
	"context"
	"net/url"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/metered"
)

// withLine are the options with what is known of the way to the node. To a broker on this machine
// nothing costs: what its node then sends elsewhere is for its own setting, sync.metered.
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

// isOwn says whether a broker's address is one of this machine.
func isOwn(broker string) bool {
	u, err := url.Parse(broker)
	return err == nil && clientaddr.Loopback(u.Hostname())
}
