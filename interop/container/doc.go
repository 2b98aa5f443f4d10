// Package container holds deploy/Dockerfile to what it says of itself, without a
// daemon: its build command is run by hand, and its programs are started in a root
// that holds nothing else.
package container
