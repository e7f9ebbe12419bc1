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

// What packages install, for the program in /usr/bin and the usual home.
//
//go:embed atlogin/locket.service
var userUnit string

//go:embed atlogin/dev.locket.locket.plist
var launchAgent string

// StartsAtLogin has this program started on this home. now is the command that starts it
// at once.
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

// LoginArgument is the home as it stands in the file.
func LoginArgument(system, home string) string {
	if system == "darwin" {
		return plistString("--home") + "\n\t\t" + plistString(home)
	}
	return " --home " + unitString(home) + " "
}

// startAtLogin writes the file by which the system's manager starts exe on home.
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

// LoginFile is the file by which the system's manager knows of Locket.
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

// unit is that of a daemon of one's own.
func unit(exe, home string) string {
	return strings.Replace(userUnit, "/usr/bin/locket run\n", unitString(exe)+LoginArgument("linux", home)+"run\n", 1)
}

// unitString is an argument of a command in a unit (systemd.service(5), systemd.unit(5)).
func unitString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`
}

// agent is that of a daemon of one's own.
func agent(exe, home string) string {
	return strings.Replace(launchAgent, "<string>/usr/local/bin/locket</string>\n", plistString(exe)+"\n\t\t"+LoginArgument("darwin", home)+"\n", 1)
}

// plistString is a string in an agent's file (launchd.plist(5)).
func plistString(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return "<string>" + b.String() + "</string>"
}
