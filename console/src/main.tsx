// The console: one application, for partners at /console and for operators at /.
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { applyTheme } from './app/theme.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/controls.css'
import './styles/content.css'
import './styles/data.css'

applyTheme()
createRoot(document.getElementById('root')!).render(<App />)
