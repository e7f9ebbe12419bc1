package cli

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// The files that packages install, for the program in /usr/bin and the usual home.
//
//go:embed atlogin/locket.service
var userUnit string

//go:embed atlogin/dev.locket.locket.plist
var launchAgent string

// StartsAtLogin has the system start this program with this home at login. now is the command that
// starts it at once.
func (a *App) StartsAtLogin() (file, now string, err error) {
	exe, err := os.Executable()
	if err == nil {
		file, err = a.startAtLogin(runtime.GOOS, exe, a.Settings.Home)
	}
	now = "systemctl --user daemon-reload && systemctl --user start locket"
	if runtime.GOOS == "darwin" {
		now = "launchctl bootstrap gui/$(id -u) " + file
	}
	return file, now, err
}

// LoginArgument returns the flag for the home as the file contains it.
func LoginArgument(system, home string) string {
	if system == "darwin" {
		return plistString("--home") + "\n\t\t" + plistString(home)
	}
	return " --home " + unitString(home) + " "
}

// startAtLogin writes the file that tells the service manager to start exe with home.
func (a *App) startAtLogin(system, exe, home string) (file string, err error) {
	if file, err = a.LoginFile(system); err != nil {
		return "", err
	}
	if system == "darwin" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		return file, atomicfile.Write(file, []byte(agent(exe, home)))
	}
	wanted := filepath.Join(filepath.Dir(file), "default.target.wants")
	if err := os.MkdirAll(wanted, 0o755); err != nil {
		return "", err
	}
	if err := atomicfile.Write(file, []byte(unit(exe, home))); err != nil {
		return "", err
	}
	// What systemctl --user enable does.
	if err := os.Symlink(file, filepath.Join(wanted, "locket.service")); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return file, nil
}

// LoginFile returns the path of the file that tells the service manager about Locket.
func (a *App) LoginFile(system string) (string, error) {
	user, dir := a.Environment("HOME"), a.Environment("XDG_CONFIG_HOME")
	switch {
	case system == "darwin" && user == "":
		return "", errors.New("HOME is not set, so there is no place for the launch agent")
	case system == "darwin":
		return filepath.Join(user, "Library", "LaunchAgents", "dev.locket.locket.plist"), nil
	case dir == "" && user == "":
		return "", errors.New("HOME is not set, so there is no place for the unit")
	case dir == "":
		dir = filepath.Join(user, ".config")
	}
	return filepath.Join(dir, "systemd", "user", "locket.service"), nil
}

func (a *App) Environment(name string) string {
	for _, v := range a.Environ {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

// unit returns the systemd unit of a user's own daemon.
func unit(exe, home string) string {
	return strings.Replace(userUnit, "/usr/bin/locket run\n", unitString(exe)+LoginArgument("linux", home)+"run\n", 1)
}

// unitString quotes an argument of a command in a unit (systemd.service(5), systemd.unit(5)).
func unitString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`
}

// agent returns the launchd agent of a user's own daemon.
func agent(exe, home string) string {
	return strings.Replace(launchAgent, "<string>/usr/local/bin/locket</string>\n", plistString(exe)+"\n\t\t"+LoginArgument("darwin", home)+"\n", 1)
}

// plistString returns a string as an agent's file contains it (launchd.plist(5)).
func plistString(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a buffer never fails
	return "<string>" + b.String() + "</string>"
}
