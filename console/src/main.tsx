import { render } from 'preact';
import { comeBack } from './api/issuer';
import { signOut } from './api/token';
import { App } from './shell/app';
import { loadPage } from './shell/pages';
import './style/base.css';

loadPage();
await comeBack().catch((error: unknown) => signOut(error instanceof Error ? error.message : String(error)));
const root = document.getElementById('console');
if (root) render(<App />, root);
