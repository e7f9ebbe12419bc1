package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// FileName is the file's name, in the home or the platform's config folder.
const FileName = "config.toml"

// defaultHome returns the node's folder if none is named: on Linux
// $XDG_DATA_HOME/locket or ~/.local/share/locket (XDG Base Directory 0.8), on
// macOS ~/Library/Application Support/locket, on Windows %LocalAppData%\locket.
// It is relative if the user has no home folder.
func defaultHome() string {
	switch runtime.GOOS {
	case "windows":
		if d := os.Getenv("LocalAppData"); d != "" {
			return filepath.Join(d, "locket")
		}
	case "darwin", "ios":
		if d, err := os.UserHomeDir(); err == nil {
			return filepath.Join(d, "Library", "Application Support", "locket")
		}
	default:
		// The specification says to ignore relative paths.
		if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
			return filepath.Join(d, "locket")
		}
	}
	if d, err := os.UserHomeDir(); err == nil {
		return filepath.Join(d, ".local", "share", "locket")
	}
	return "locket-home"
}

// platformFile returns the path of the configuration in the platform's config
// folder, or the empty string if there is no such folder.
func platformFile() string {
	d, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "locket", FileName)
}
