// Package bridge is what the page's programs share: functions that JavaScript
// calls, with errors that are values with a text for people.
package bridge
