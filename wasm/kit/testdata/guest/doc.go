//go:build !wasip1

// Command guest is a plugin; see main.go, which is only built for GOOS=wasip1.
package main

func main() {}
