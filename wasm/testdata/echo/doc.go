//go:build !wasip1

// Command echo is only built for GOOS=wasip1; see main.go.
package main

func main() {}
