// A page that breaks shows that it did, and leaves the rest of the console usable.
import { Component, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <Notice kind="bad" title="This page could not be shown">
        <p>Reload it. If it happens again, tell us which page it was.</p>
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </Notice>
    )
  }
}
