package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/lan"
)

// Satellites announce themselves by zeroconf, as do the servers of speech that speak the same protocol.
const (
	announcedAs   = "_wyoming._tcp"
	announcedIn   = 2 * time.Second
	describedIn   = 3 * time.Second
	maxSatellites = 32 // how many are asked what they are: anybody can announce any number
)

// findSatellite returns a function that finds a satellite at each connection, by its name or by the
// host in host:port. It returns nil if the host is an address, or a name that only the system looks
// up. A host in host:port that nobody announces is also looked up by the system. If several
// addresses answer to a name, none of them is trusted. interfaces are as in [lan.Find].
func findSatellite(device string, interfaces []net.Interface) func(context.Context) (string, error) {
	host, port, err := net.SplitHostPort(device)
	if err == nil && !strings.HasSuffix(strings.TrimSuffix(host, "."), ".local") {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		var at []string
		for _, s := range lan.Services(ctx, announcedAs, announcedIn, interfaces) {
			named := err != nil && (strings.EqualFold(s.Name, device) || strings.EqualFold(s.Host, device))
			hosted := err == nil && strings.EqualFold(s.Host, strings.TrimSuffix(host, ".")) && fmt.Sprint(s.At.Port()) == port
			if (named || hosted) && !slices.Contains(at, s.At.String()) {
				at = append(at, s.At.String())
			}
		}
		switch {
		case len(at) == 1:
			return at[0], nil
		case len(at) > 1:
			return "", fmt.Errorf("several answer to %q: %s: give the address of the right one", device, strings.Join(at[:min(len(at), 4)], ", "))
		case err == nil:
			return device, nil
		}
		return "", fmt.Errorf("no satellite %q is announced in the network: see locket-bridge list", device)
	}
}

// satellites returns the services that say that they are satellites.
func satellites(ctx context.Context, services []lan.Service) (out []link.Found) {
	found := make([]bool, min(len(services), maxSatellites))
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() { found[i] = isSatellite(ctx, services[i].At) })
	}
	all.Wait()
	for i, s := range services[:len(found)] {
		if found[i] {
			out = append(out, link.Found{Address: s.At.String(), Name: s.Name})
		}
	}
	return out
}

// isSatellite asks a server what it is.
func isSatellite(ctx context.Context, at netip.AddrPort) bool {
	ctx, cancel := context.WithTimeout(ctx, describedIn)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // unblocks the read
	ask, err := frame.Append(nil, frame.Event{Type: "describe"})
	if err != nil {
		return false
	}
	if _, err := conn.Write(ask); err != nil {
		return false
	}
	var in frame.Decoder
	b := make([]byte, 32<<10)
	for {
		n, err := conn.Read(b)
		list, bad := in.Push(b[:n])
		for _, e := range list {
			if e.Type == "info" {
				_, is := e.Data["satellite"].(map[string]any)
				return is
			}
		}
		if err != nil || bad != nil {
			return false
		}
	}
}
