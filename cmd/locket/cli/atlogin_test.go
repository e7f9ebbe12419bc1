package cli

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What has a special meaning for systemd is quoted.
func TestUnit(t *testing.T) {
	got := unit("/opt/my locket/100%/locket", `/home/a"b$c`)
	if !strings.Contains(got, `ExecStart="/opt/my locket/100%%/locket" --home "/home/a\"b$$c" run`+"\n") {
		t.Error(got)
	}
}

// The agent for launchd is valid XML, whatever a path contains.
func TestAgent(t *testing.T) {
	user := t.TempDir()
	a := &App{Deps: Deps{Environ: []string{"HOME=" + user}}}
	file, err := a.startAtLogin("darwin", "/opt/<a> & b/locket", "/Users/m/Library/Application Support/locket")
	if err != nil || file != filepath.Join(user, "Library", "LaunchAgents", "dev.locket.locket.plist") {
		t.Fatal(file, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var plist struct {
		Arguments []string `xml:"dict>array>string"`
	}
	if err := xml.Unmarshal(b, &plist); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/opt/<a> & b/locket", "--home", "/Users/m/Library/Application Support/locket", "run"}; !slices.Equal(plist.Arguments, want) {
		t.Errorf("%q", plist.Arguments)
	}
}
