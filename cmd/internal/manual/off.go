//go:build !manual

package manual

import "github.com/spf13/cobra"

// Commands are none in a binary that ships.
func Commands() []*cobra.Command { return nil }
