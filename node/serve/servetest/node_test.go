package servetest

import "testing"

func TestNodeIsAService(t *testing.T) {
	Run(t, func(t *testing.T) Subject {
		n := NewNode()
		return Subject{n.Services(), n.Passphrase}
	})
}
