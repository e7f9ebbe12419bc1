package day

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Write writes the day's files into dir, which is created if needed.
func (d *Day) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write day: %w", err)
	}
	for _, name := range d.FileNames() {
		if err := os.WriteFile(filepath.Join(dir, name), d.files[name], 0o644); err != nil {
			return fmt.Errorf("write day: %w", err)
		}
	}
	return nil
}

// FileNames lists the day's files, sorted.
func (d *Day) FileNames() []string {
	return slices.Sorted(maps.Keys(d.files))
}
