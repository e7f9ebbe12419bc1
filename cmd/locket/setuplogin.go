package main

import (
	"bytes"
	_ "embed" // for the files that start it
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
)

// What packages install, for the program in /usr/bin and the usual home.
var (
	//go:embed atlogin/locket.service
	userUnit string
	//go:embed atlogin/dev.locket.locket.plist
	launchAgent string
)

// atLogin has systemd, or launchd on a Mac, start the daemon when the wearer
// logs in.
func (s *settingUp) atLogin(*serve.Client) error {
	later := func() {
		if !s.app.hasLogin(runtime.GOOS) {
			s.done.Skipped = append(s.done.Skipped, "locket setup --at-login")
		}
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		if s.o.atLogin {
			return usagef("--at-login: this is for systemd on Linux, and for launchd on a Mac")
		}
		return nil
	}
	if !s.o.atLogin {
		if !s.talks {
			later()
			return nil
		}
		yes, err := s.yes("\nStart Locket whenever you log in?")
		if err != nil {
			return err
		}
		if !yes {
			later()
			return nil
		}
	}
	file, now, err := s.app.startsAtLogin()
	if err != nil {
		return fmt.Errorf("--at-login: %w", err)
	}
	s.done.AtLogin = file
	s.tell("Locket starts with your next login: %s\nTo start it now: %s\n", file, now)
	return nil
}

// startsAtLogin has this program started on this home. now is the command that starts it
// at once.
func (a *app) startsAtLogin() (file, now string, err error) {
	exe, err := os.Executable()
	if err == nil {
		file, err = a.startAtLogin(runtime.GOOS, exe, a.settings.Home)
	}
	now = "systemctl --user daemon-reload && systemctl --user start locket"
	if runtime.GOOS == "darwin" {
		now = "launchctl bootstrap gui/$(id -u) " + file
	}
	return file, now, err
}

// hasLogin reports whether the system's manager starts a program on this home; it may
// start another home instead, as there is one file for all of a user's.
func (a *app) hasLogin(system string) bool {
	file, err := a.loginFile(system)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), loginArgument(system, a.settings.Home))
}

// loginArgument is the home as it stands in the file.
func loginArgument(system, home string) string {
	if system == "darwin" {
		return plistString("--home") + "\n\t\t" + plistString(home)
	}
	return " --home " + unitString(home) + " "
}

// startAtLogin writes the file by which the system's manager starts exe on home.
func (a *app) startAtLogin(system, exe, home string) (file string, err error) {
	if file, err = a.loginFile(system); err != nil {
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

// loginFile is the file by which the system's manager knows of Locket.
func (a *app) loginFile(system string) (string, error) {
	user, dir := a.environment("HOME"), a.environment("XDG_CONFIG_HOME")
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

func (a *app) environment(name string) string {
	for _, v := range a.environ {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}

// unit is that of a daemon of one's own.
func unit(exe, home string) string {
	return strings.Replace(userUnit, "/usr/bin/locket run\n", unitString(exe)+loginArgument("linux", home)+"run\n", 1)
}

// unitString is an argument of a command in a unit (systemd.service(5), systemd.unit(5)).
func unitString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`
}

// agent is that of a daemon of one's own.
func agent(exe, home string) string {
	return strings.Replace(launchAgent, "<string>/usr/local/bin/locket</string>\n", plistString(exe)+"\n\t\t"+loginArgument("darwin", home)+"\n", 1)
}

// plistString is a string in an agent's file (launchd.plist(5)).
func plistString(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return "<string>" + b.String() + "</string>"
}
