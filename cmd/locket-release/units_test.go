package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A user's bridge is confined like the user's daemon, and both as far as a user's service manager
// can: options that need a namespace of files or devices would hide serial ports and folders.
func TestUserUnitsAreConfined(t *testing.T) {
	read := func(path string) []string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(b), "\n")
	}
	daemon, bridge := read("../locket/cli/atlogin/locket.service"), read("files/locket-bridge.service")
	from := slices.Index(daemon, "NoNewPrivileges=yes")
	if from < 0 {
		t.Fatal("the daemon's unit confines nothing")
	}
	for _, line := range daemon[from:] {
		if line == "" {
			break
		}
		if !slices.Contains(bridge, line) {
			t.Errorf("the bridge's unit has no %s", line)
		}
	}
	for _, line := range bridge {
		if strings.HasPrefix(line, "PrivateDevices=") || strings.HasPrefix(line, "ProtectHome=") || strings.HasPrefix(line, "DevicePolicy=") {
			t.Errorf("%s takes serial ports or recordings from the bridge", line)
		}
	}
}
