package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/mdns"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/node/lan"
)

// testPrefix begins the names that the tests announce, because other tests on this machine hear
// them, too.
var testPrefix = fmt.Sprintf("locket-%d-", os.Getpid())

// serving starts a Wyoming server on loopback that says what it is, and announces itself.
func serving(t *testing.T, lo net.Interface, name string, info map[string]any) (addr string) {
	t.Helper()
	return servingAt(t, lo, name, "127.0.0.1", info)
}

func servingAt(t *testing.T, lo net.Interface, name, ip string, info map[string]any) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && line != "" {
				if b, err := frame.Append(nil, frame.Event{Type: "info", Data: info}); err == nil {
					_, _ = c.Write(b) // the client may be gone
				}
			}
			c.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	zone, err := mdns.NewMDNSService(name, announcedAs, "", name+".local.", port, []net.IP{net.ParseIP(ip)}, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mdns.NewServer(&mdns.Config{Zone: zone, Iface: &lo})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// hears asks the network until the answer satisfies the test, a limited number of times: on a busy
// machine an answer may come too late.
func hears(will func() bool) bool {
	for range 10 {
		if will() {
			return true
		}
	}
	return false
}

// The satellites that the network announces are listed, and found by their names at each
// connection.
func TestSatellites(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
	lo := all[i]
	kitchen := serving(t, lo, testPrefix+"kitchen", map[string]any{"satellite": map[string]any{"name": "kitchen"}})
	serving(t, lo, testPrefix+"speech", map[string]any{"asr": []any{}, "satellite": nil})
	var found []link.Found
	if !hears(func() bool {
		found = satellites(t.Context(), lan.Services(t.Context(), announcedAs, time.Second, all[i:i+1]))
		return slices.ContainsFunc(found, func(f link.Found) bool { return f.Address == kitchen && f.Name == testPrefix+"kitchen" })
	}) {
		t.Errorf("%+v", found)
	}
	if slices.ContainsFunc(found, func(f link.Found) bool { return f.Name == testPrefix+"speech" }) {
		t.Error("a server of speech is taken for a satellite")
	}
	_, port, err := net.SplitHostPort(kitchen)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{testPrefix + "kitchen", strings.ToUpper(testPrefix) + "kitchen.local", testPrefix + "kitchen.local:" + port, testPrefix + "kitchen.local.:" + port} {
		look := findSatellite(name, all[i:i+1])
		if look == nil {
			t.Fatalf("%s is not looked for", name)
		}
		var at string
		if !hears(func() bool { at, err = look(t.Context()); return err == nil && at == kitchen }) {
			t.Errorf("%s: %s, %v", name, at, err)
		}
		var d link.Device
		if !hears(func() bool { d, err = (&link.TCP{Addr: name, Look: look}).Connect(t.Context()); return err == nil }) {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
	if _, err := (&link.TCP{Look: findSatellite(testPrefix+"none", all[i:i+1])}).Connect(t.Context()); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("nobody is found: %v", err)
	}
	// A name that is not announced, such as one from the house's DNS server, is looked up by the
	// system.
	if at, err := findSatellite(testPrefix+"kitchen.local:9", all[i:i+1])(t.Context()); err != nil || at != testPrefix+"kitchen.local:9" {
		t.Errorf("not announced: %s, %v", at, err)
	}
	// A server that answers to another's name gets no connection, no matter which address is lower.
	servingAt(t, lo, testPrefix+"kitchen", "127.0.0.2", map[string]any{"satellite": map[string]any{"name": "guest"}})
	for _, name := range []string{testPrefix + "kitchen", testPrefix + "kitchen.local"} {
		var at string
		if !hears(func() bool {
			at, err = findSatellite(name, all[i:i+1])(t.Context())
			return err != nil && strings.Contains(err.Error(), kitchen) && strings.Contains(err.Error(), "127.0.0.2:")
		}) {
			t.Errorf("two answer to %s: %s, %v", name, at, err)
		}
	}
	for _, name := range []string{"127.0.0.1:10700", "kitchen:10700", "kitchen.example.org:10700"} {
		if findSatellite(name, nil) != nil {
			t.Errorf("%s is looked for", name)
		}
	}
}
